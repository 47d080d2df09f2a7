# The user moves the QP to ERR: everything posted is flushed, each once, in order; nothing is said on
# the wire. REQ(req.error.flush) REQ(req.complete.once)
config evs 8 sq 4 rq 2

post recv id 8..9
post recv id 10 fails full
post write 8 bytes id 1..2
> WRITE ONLY psn 100..101
post write 8 bytes id 3..4
> WRITE ONLY psn 102..103
post write 8 bytes id 5 fails full
state ERR
expect completion id 1..4 flushed
expect receive id 8..9 flushed
< ACK msn 2
expect nothing for 10s
