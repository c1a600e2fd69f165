"""One file a congestion control: its parameters, its slots in the flow table and its hooks."""
