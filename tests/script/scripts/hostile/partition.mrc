# Another partition. REQ(rsp.qp.demux) REQ(wire.bth.pkey)
config pkey 0x8001

< WRITE ONLY psn 100 len 8 pkey 0xffff
expect stat drop_p_key 1
expect placed nothing
< WRITE ONLY psn 100 len 8
expect placed 8 at 0
> ACK msn 1 pkey 0x8001
