"""What will exist: nodes, ports, links, tiers, rails and planes, and the placement of ranks on them."""
