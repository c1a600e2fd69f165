"""One file a load balancing: how a switch chooses among the uplinks of an ECMP group."""
