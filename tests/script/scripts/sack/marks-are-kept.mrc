# Coalescing: several triggers become one SACK where state is asked for, but each congestion mark must
# name its own EV. REQ(rsp.sack.coalesce) REQ(rsp.sack.mark)
config planes 1

< WRITE ONLY psn 101 msn 1 len 4 ce ev 1
< WRITE ONLY psn 102 msn 2 len 4 ce ev 2
> SACK ev 1 mark skip_once trigger 101
> SACK ev 2 mark skip_once trigger 102
< WRITE ONLY psn 102 msn 2 len 4 ce ev 3              # marked duplicates too
> SACK ev 3 mark skip_once trigger 102
