; "Divergent Lane PC", the program of demo_kernels/extensions/nested. Where the specification's listing contradicts
; its prose, this file follows the prose: the inner regions inherit from the enclosing one, `lex` is an object and is retained, and
; one segment of the bounded fragment is active at every instruction.
lex_start:
  DBG_DEF !pc.physical.lifetime, $PC
  DBG_DEF !exec.physical.lifetime, $EXEC
  DBG_DEF !bounded.lex.a.lifetime, $noreg
  a;
  %1 = EXEC;
  DBG_DEF !save_exec.lex_1.lifetime, i64 %1
  %2 = c1;
lex_1_start:
  DBG_LABEL !lex_1_start.label
  EXEC = %1 & %2;
lex_1_then:
  DBG_KILL !bounded.lex.a.lifetime
  DBG_DEF !bounded.lex_1_then.a.lifetime, $noreg
  b;
  %3 = EXEC;
  DBG_DEF !save_exec.lex_1_1.lifetime, i64 %3
  %4 = c2;
lex_1_1_start:
  DBG_LABEL !lex_1_1_start.label
  EXEC = %3 & %4;
lex_1_1_then:
  DBG_KILL !bounded.lex_1_then.a.lifetime
  DBG_DEF !bounded.lex_1_1_then.lifetime, $noreg
  c;
  EXEC = ~EXEC & %3;
lex_1_1_else:
  DBG_KILL !bounded.lex_1_1_then.lifetime
  DBG_DEF !bounded.lex_1_1_else.lifetime, $noreg
  d;
  EXEC = %3;
  DBG_KILL !save_exec.lex_1_1.lifetime
lex_1_1_end:
  DBG_LABEL !lex_1_1_end.label
  DBG_KILL !bounded.lex_1_1_else.lifetime
  DBG_DEF !bounded.lex_1_then.b.lifetime, $noreg
  e;
  EXEC = ~EXEC & %1;
lex_1_else:
  DBG_KILL !bounded.lex_1_then.b.lifetime
  DBG_DEF !bounded.lex_1_else.lifetime, $noreg
  f;
  EXEC = %1;
  DBG_KILL !save_exec.lex_1.lifetime
lex_1_end:
  DBG_LABEL !lex_1_end.label
  DBG_KILL !bounded.lex_1_else.lifetime
  DBG_DEF !bounded.lex.b.lifetime, $noreg
  g;
lex_end:

!lex_1_start.label = distinct !DExprCode()
!lex_1_1_start.label = distinct !DExprCode()
!lex_1_1_end.label = distinct !DExprCode()
!lex_1_end.label = distinct !DExprCode()

!save_exec.lex_1.fragment = distinct !DIFragment()
!save_exec.lex_1.lifetime = distinct !DILifetime(object: !save_exec.lex_1.fragment, location: !DIExpr(DIOpReferrer(i64)))
!save_exec.lex_1_1.fragment = distinct !DIFragment()
!save_exec.lex_1_1.lifetime = distinct !DILifetime(object: !save_exec.lex_1_1.fragment, location: !DIExpr(DIOpReferrer(i64)))

!pc.fragment = distinct !DIFragment()
!pc.default.lifetime = distinct !DILifetime(object: !pc.fragment, location: !DIExpr(DIOpArg(i64)), argObjects: {!pc.physical.fragment})
!pc.physical.fragment = distinct !DIFragment()
!pc.physical.lifetime = distinct !DILifetime(object: !pc.physical.fragment, location: !DIExpr(DIOpReferrer(i64)))
!exec.fragment = distinct !DIFragment()
!exec.default.lifetime = distinct !DILifetime(object: !exec.fragment, location: !DIExpr(DIOpArg(i64)), argObjects: {!exec.physical.fragment})
!exec.physical.fragment = distinct !DIFragment()
!exec.physical.lifetime = distinct !DILifetime(object: !exec.physical.fragment, location: !DIExpr(DIOpReferrer(i64)))

!bounded.fragment = distinct !DIFragment()
!bounded.expr = !DIExpr(DIOpArg(<64 x i64>))
!bounded.lex.a.lifetime = distinct !DILifetime(object: !bounded.fragment, location: !bounded.expr, argObjects: {!divergent.lex.fragment})
!bounded.lex_1_then.a.lifetime = distinct !DILifetime(object: !bounded.fragment, location: !bounded.expr, argObjects: {!divergent.lex_1_then.fragment})
!bounded.lex_1_1_then.lifetime = distinct !DILifetime(object: !bounded.fragment, location: !bounded.expr, argObjects: {!divergent.lex_1_1_then.fragment})
!bounded.lex_1_1_else.lifetime = distinct !DILifetime(object: !bounded.fragment, location: !bounded.expr, argObjects: {!divergent.lex_1_1_else.fragment})
!bounded.lex_1_then.b.lifetime = distinct !DILifetime(object: !bounded.fragment, location: !bounded.expr, argObjects: {!divergent.lex_1_then.fragment})
!bounded.lex_1_else.lifetime = distinct !DILifetime(object: !bounded.fragment, location: !bounded.expr, argObjects: {!divergent.lex_1_else.fragment})
!bounded.lex.b.lifetime = distinct !DILifetime(object: !bounded.fragment, location: !bounded.expr, argObjects: {!divergent.lex.fragment})

!divergent.lex.fragment = distinct !DIFragment()
!divergent.lex.lifetime = distinct !DILifetime(object: !divergent.lex.fragment, location: !DIExpr(DIOpConstant(i64 undef), DIOpExtend(64)))
!select_lanes.expr = !DIExpr(DIOpArg(0, <64 x i64>), DIOpArg(1, i64), DIOpExtend(64, i64), DIOpArg(2, i64), DIOpSelect(64, i64))
!divergent.lex_1_then.fragment = distinct !DIFragment()
!divergent.lex_1_then.lifetime = distinct !DILifetime(object: !divergent.lex_1_then.fragment, location: !select_lanes.expr,
  argObjects: {!divergent.lex.fragment, !lex_1_start.label, !save_exec.lex_1.fragment})
!divergent.lex_1_1_then.fragment = distinct !DIFragment()
!divergent.lex_1_1_then.lifetime = distinct !DILifetime(object: !divergent.lex_1_1_then.fragment, location: !select_lanes.expr,
  argObjects: {!divergent.lex_1_then.fragment, !lex_1_1_start.label, !save_exec.lex_1_1.fragment})
!divergent.lex_1_1_else.fragment = distinct !DIFragment()
!divergent.lex_1_1_else.lifetime = distinct !DILifetime(object: !divergent.lex_1_1_else.fragment, location: !select_lanes.expr,
  argObjects: {!divergent.lex_1_then.fragment, !lex_1_1_end.label, !save_exec.lex_1_1.fragment})
!divergent.lex_1_else.fragment = distinct !DIFragment()
!divergent.lex_1_else.lifetime = distinct !DILifetime(object: !divergent.lex_1_else.fragment, location: !select_lanes.expr,
  argObjects: {!divergent.lex.fragment, !lex_1_end.label, !save_exec.lex_1.fragment})

!active_lane_pc.fragment = distinct !DIFragment()
!active_lane_pc.lifetime = distinct !DILifetime(object: !active_lane_pc.fragment, location: !select_lanes.expr,
  argObjects: {!bounded.fragment, !pc.fragment, !exec.fragment})

!subprogram = !DISubprogram(...,
  activeLanePC: !active_lane_pc.fragment,
  retainedNodes: !{
    !pc.default.lifetime, !exec.default.lifetime, !divergent.lex.lifetime,
    !divergent.lex_1_then.lifetime, !divergent.lex_1_1_then.lifetime,
    !divergent.lex_1_1_else.lifetime, !divergent.lex_1_else.lifetime,
    !active_lane_pc.lifetime,
    !lex_1_start.label, !lex_1_1_start.label, !lex_1_1_end.label, !lex_1_end.label
  }
)
