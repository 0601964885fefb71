"""What every reader must stand: any bytes at all."""
