# The longest message, 2^32 - 1 bytes, is 2^20 packets, each with the length of the whole; the last
# holds 4095 bytes. REQ(svc.message-size) REQ(req.segment) REQ(wire.reth.length)
config evs 8 mtu 4096 mpr 255

post write 4294967295 bytes id 1
> WRITE FIRST psn 100 len 4096 dmalen 4294967295 at 0
> WRITE MIDDLE psn 101..1048674 len 4096 dmalen 4294967295 sacked
> WRITE LAST psn 1048675 len 4095 dmalen 4294967295 at 4294963200
< SACK cack 1048675
< ACK msn 1
expect completion id 1 success
expect stat tx_data_bytes 4294967295
