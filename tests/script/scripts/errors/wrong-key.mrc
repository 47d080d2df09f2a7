# A key that names nothing. REQ(rsp.mr.every-packet) REQ(rsp.place.access-nak)
config planes 1

< WRITE ONLY psn 100 rkey 0x15b
> ACK msn 0 nak remote_access
expect qp_error remote_access by peer
expect placed nothing
