# A plain WRITE uses up no receive and gives the receiver no completion.
# REQ(rsp.complete.write-silent)
config planes 1 tail_probe 10s   # no return path is tested meanwhile

post recv id 1
< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 1
expect nothing for 100us
< WRITE ONLY IMM psn 101 msn 1 imm 4 len 8
> ACK msn 2
expect receive id 1 success imm 4 len 8
