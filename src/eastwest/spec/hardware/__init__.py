"""Data sheets, one YAML file a model under `<kind>/<model>.yaml`; every value carries its unit and its source."""
