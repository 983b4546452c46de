"""The proving kit, used on ourselves as anybody would use it on their own hooks and loops."""
