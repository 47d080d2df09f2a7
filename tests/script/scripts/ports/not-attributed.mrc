# What was lost with a port goes again on another, and is not held against its EV.
# REQ(ep.port.not-attributed) REQ(ep.port.local-down)
config planes 2 evs 4 gap 6us

post write 2048 bytes id 1
> WRITE FIRST psn 100 plane 0 ev A
port 0 down
ignore PROBE EP_REQUEST
+6us > WRITE LAST psn 101 plane 1
+10us < SACK cack 99 map 0b10 trigger 101
> WRITE FIRST psn 100 rtx plane 1
expect ev A GOOD
< SACK cack 101 trigger 100
< ACK msn 1
expect completion id 1 success
