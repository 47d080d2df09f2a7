# Trigger 1: a SACK is due when more than sack_bytes have come since the last one; a packet counts for
# at least 1024. REQ(rsp.sack.trigger.bytes) REQ(rsp.sack.coalesce)
config sack_bytes 4096 mtu 4096
config tail_probe 10s   # no return path is tested meanwhile

< WRITE ONLY psn 101..104 msn 1..4 len 4         # 4 x 1024: not more than 4096
expect nothing for 100us
< WRITE ONLY psn 105 msn 5 len 4
> SACK cack 99 map 0b111110 ooo 5 trigger 105 ev 224 ts echo
< WRITE ONLY psn 106 msn 6 len 3000              # counting has begun again
expect nothing
< WRITE ONLY psn 107 msn 7 len 1097
> SACK cack 99 map 0b11111110 ooo 7 trigger 107
