"""Detection without a screen: models, backends, media, the pool, devices and the session store."""
