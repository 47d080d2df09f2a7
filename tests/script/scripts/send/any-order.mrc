# Packets of SENDs find their receive by its number, in whatever order they come; receives complete in
# order. REQ(ext.recv.match) REQ(ext.recv.order) REQ(ext.recv.scatter)
config extended on sack_bytes 100000

< PROBE probe 1 ext 0x41
> SACK probe 1 cack 99 ext 0x41
post recv id 1 sge 1000 at 0 sge 2000 at 66536
post recv id 2 sge 100 at 131072
< SEND ONLY IMM psn 102 msn 1 rqmsn 1 len 60 imm 5
expect placed 60 at 131072
< SEND LAST psn 101 msn 0 rqmsn 0 dmalen 1500 at 1024
expect placed 476 at 66560
expect nothing
< SEND FIRST psn 100 msn 0 rqmsn 0 dmalen 1500 at 0
expect placed 1000 at 0
expect placed 24 at 66536
> ACK msn 2
expect receive id 1 success len 1500
expect receive id 2 success imm 5 len 60
