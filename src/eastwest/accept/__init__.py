"""Is it as promised: acceptance stages, derived ceilings, scores, cabling against plan and baselines."""
