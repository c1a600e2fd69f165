"""How devices are told: policy rendered to vendor text, running configurations compared and audited."""
