"""What is wanted: the site file (rooms, racks, servers, switches, jobs, wishes) and the hardware catalogue."""
