# Bytes outside of their own message are an invalid request, though the receive had room.
# REQ(ext.recv.length)
config extended on sack_bytes 100000

< PROBE probe 1 ext 0x41
> SACK probe 1
post recv id 1 sge 5000 at 0
< SEND LAST psn 101 msn 0 rqmsn 0 dmalen 1500 at 1025
> ACK msn 0 nak invalid_request
expect placed nothing
expect receive id 1 flushed
expect qp_error invalid_request by peer
