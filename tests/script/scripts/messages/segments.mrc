# A message is cut into MTU sized packets; addresses grow by one MTU, the length is that of the whole
# message in each, MSN is the same in each, the last asks for a SACK.
# REQ(req.segment) REQ(wire.reth.address) REQ(wire.reth.length) REQ(wire.meth.msn) REQ(wire.tseth.position)
config evs 8 mtu 256

post write 513 bytes id 1 at 1000
post write 512 bytes id 2 imm 77 se
post write 256 bytes id 3
> WRITE FIRST psn 100 msn 0 rqmsn 0 len 256 dmalen 513 at 1000 rkey 0x15a
> WRITE MIDDLE psn 101 msn 0 rqmsn 0 len 256 dmalen 513 at 1256
> WRITE LAST psn 102 msn 0 rqmsn 0 len 1 dmalen 513 at 1512 ackreq !se
> WRITE FIRST psn 103 msn 1 rqmsn 0 len 256 dmalen 512 at 0 !se
> WRITE LAST IMM psn 104 msn 1 rqmsn 0 len 256 dmalen 512 at 256 imm 77 se ackreq
> WRITE ONLY psn 105 msn 2 rqmsn 1 len 256 dmalen 256
< ACK msn 3
expect completion id 1..3 success
