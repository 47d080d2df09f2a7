# The peer's bad request ends the QP; our own requests were not at fault and are flushed.
# REQ(rsp.place.access-nak) REQ(req.error.flush)
config mr 4096 evs 4

post write 8 bytes id 1
> WRITE ONLY psn 100
< WRITE ONLY psn 100 at 5000 len 8
> ACK msn 0 nak remote_access
expect completion id 1 flushed
expect qp_error remote_access by peer
