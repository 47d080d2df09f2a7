# A QP without extensions knows nothing of it: it says nothing of itself, and a SEND is no packet.
# REQ(ext.strict) REQ(svc.write-only)
config sack_bytes 100000

post send 8 bytes fails invalid
< PROBE probe 1 ext 0x41
> SACK probe 1 ext 0
post recv id 1
< SEND ONLY psn 100 msn 0 rqmsn 0 len 8
expect nothing
expect stat drop_decode 1
