# Packets of another partition, data and control. REQ(rsp.qp.demux) REQ(wire.bth.pkey)
config pkey 0x8001

< WRITE ONLY psn 100 len 8 pkey 0xffff
expect stat drop_p_key 1
expect placed nothing
< WRITE ONLY psn 100 len 8
expect placed 8 at 0
> ACK msn 1 pkey 0x8001

post write 8 bytes id 1
> WRITE ONLY psn 100
< SACK cack 100 pkey 0xffff
< NACK psn 100 reason unexp_event pkey 0xffff
< ACK msn 1 pkey 0xffff
< PROBE probe 7 pkey 0xffff
expect stat drop_p_key 5
expect nothing
expect state RTS
< SACK cack 100
< ACK msn 1
expect completion id 1 success
