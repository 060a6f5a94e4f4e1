"""Routes: decode, call one service, encode."""
