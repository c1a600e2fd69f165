"""How every device must behave, vendor-neutral: loss regime, classes, headroom, ECN, buffers, MTU, host settings."""
