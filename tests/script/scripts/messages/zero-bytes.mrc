# A WRITE of no bytes is one packet without payload. Nothing is placed, so its key is not looked at.
# REQ(req.segment) REQ(rsp.place.payload-length)
config evs 4

post write 0 bytes id 1
> WRITE ONLY psn 100 len 0 dmalen 0 ackreq
< ACK msn 1
expect completion id 1 success
< WRITE ONLY psn 100 len 0 rkey 0xdeadbeef
> ACK msn 1
expect placed nothing
