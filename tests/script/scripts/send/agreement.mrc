# A QP with extensions asks its peer with a probe before it sends anything else; the answer says what
# the peer knows and has room for. REQ(ext.agreement) REQ(ext.opcodes)
config extended on

post send 1500 bytes id 1
> PROBE probe P ext 0x41
expect nothing for 10us
< SACK probe P cack 99 ext 0x41
> SEND FIRST psn 100 msn 0 rqmsn 0 at 0 rkey 0 dmalen 1500
> SEND LAST psn 101 msn 0 rqmsn 0 at 1024 rkey 0 dmalen 1500
post send 10 bytes id 2 imm 7 se                # nothing is asked twice
> SEND ONLY IMM psn 102 msn 1 rqmsn 1 at 0 dmalen 10 imm 7 se
post write 10 bytes id 3 imm 8
> WRITE ONLY IMM psn 103 msn 2 rqmsn 2 imm 8
< ACK msn 3
expect completion id 1..3 success
