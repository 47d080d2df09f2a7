# Packets go over the planes in turn and over all EVs of a plane before one comes again.
# REQ(req.spray.equal-planes) REQ(req.spray.rotation)
config planes 2 evs 4

post write 8192 bytes id 1
> WRITE FIRST psn 100 plane 0 ev A
> WRITE MIDDLE psn 101 plane 1 ev B
> WRITE MIDDLE psn 102 plane 0 ev !A
> WRITE MIDDLE psn 103 plane 1 ev !B
> WRITE MIDDLE psn 104 plane 0
> WRITE MIDDLE psn 105 plane 1
> WRITE MIDDLE psn 106 plane 0
> WRITE LAST psn 107 plane 1
< ACK msn 1
expect completion id 1 success
