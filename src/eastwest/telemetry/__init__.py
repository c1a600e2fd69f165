"""What is observed: collection over transports, rates, the exporter, alert rules, dashboards and traffic traces."""
