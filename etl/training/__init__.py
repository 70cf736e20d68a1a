from conf.telemetry import without_telemetry

without_telemetry()  # before any of the modules imports MLflow
