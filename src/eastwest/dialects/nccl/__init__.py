"""How NCCL speaks: its debug log."""
