; "Common Subexpression Elimination (CSE)": what the specification expects of EarlyCSE, spelled as there
define dso_local i32 @foo(i32* %bar, i32 %arg, i32 %more) {
entry:
  call void @llvm.dbg.def(metadata ptr %bar, metadata !19)
  call void @llvm.dbg.def(metadata i32 %arg, metadata !20)
  call void @llvm.dbg.def(metadata i32 %more, metadata !21)
  %0 = load i32, i32* %bar, align 4

  call void @llvm.dbg.def(metadata i32 %0, metadata !22)
  call void @llvm.dbg.def(metadata i32 %0, metadata !23)

  %add = add nsw i32 %more, %0
  ret i32 %add
}

!14 = !DILocalVariable("bar", ...)
!15 = !DILocalVariable("arg", ...)
!16 = !DILocalVariable("more", ...)
!17 = !DILocalVariable("redundant", ...)
!18 = !DILocalVariable("loaded", ...)
!19 = distinct !DILifetime(object: !14, location: !DIExpr(DIOpReferrer(ptr)))
!20 = distinct !DILifetime(object: !15, location: !DIExpr(DIOpReferrer(i32)))
!21 = distinct !DILifetime(object: !16, location: !DIExpr(DIOpReferrer(i32)))
!22 = distinct !DILifetime(object: !17, location: !DIExpr(DIOpReferrer(i32), DIOpRead(i32)))
!23 = distinct !DILifetime(object: !18, location: !DIExpr(DIOpReferrer(i32), DIOpRead(i32)))
