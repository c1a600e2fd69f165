"""The main job: account, fabric, placement, policy, prediction, targets and bill of materials in one plan."""
