# A packet outside the region that its key names: nothing is placed, the message is refused and the QP
# ends. The peer hears the same NAK again whenever it goes on.
# REQ(rsp.place.access-nak) REQ(rsp.mr.every-packet)
config mr 4096

post recv id 1
< WRITE ONLY psn 100 at 4090 len 8
expect placed nothing
> ACK msn 0 nak remote_access
expect receive id 1 flushed
expect qp_error remote_access by peer
expect state ERR
+1ms < WRITE ONLY psn 100 at 4090 len 8 rtx
> ACK msn 0 nak remote_access
+1ms < PROBE probe 5
> ACK msn 0 nak remote_access
