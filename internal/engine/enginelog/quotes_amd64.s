#include "textflag.h"

// Sixteen or 32 bytes are compared with a quote and with a backslash at once; four or two such answers make a word.

#define COMBINE(a, b, c, d, to) \
	PMOVMSKB a, AX  \
	PMOVMSKB b, BX  \
	PMOVMSKB c, DX  \
	PMOVMSKB d, R9  \
	SHLQ     $16, BX \
	SHLQ     $32, DX \
	SHLQ     $48, R9 \
	ORQ      BX, AX \
	ORQ      R9, DX \
	ORQ      DX, AX \
	MOVQ     AX, (to)

// func findBlocks(quotes, slashes *uint64, text *byte, n int)
TEXT ·findBlocks(SB), NOSPLIT, $0-32
	MOVQ       quotes+0(FP), DI
	MOVQ       slashes+8(FP), R8
	MOVQ       text+16(FP), SI
	MOVQ       n+24(FP), CX
	MOVQ       $0x2222222222222222, AX // quotes
	MOVQ       AX, X0
	PUNPCKLQDQ X0, X0
	MOVQ       $0x5c5c5c5c5c5c5c5c, AX // backslashes
	MOVQ       AX, X1
	PUNPCKLQDQ X1, X1

block:
	MOVOU   (SI), X2
	MOVOU   16(SI), X3
	MOVOU   32(SI), X4
	MOVOU   48(SI), X5
	MOVO    X2, X6
	MOVO    X3, X7
	MOVO    X4, X8
	MOVO    X5, X9
	PCMPEQB X0, X2
	PCMPEQB X0, X3
	PCMPEQB X0, X4
	PCMPEQB X0, X5
	PCMPEQB X1, X6
	PCMPEQB X1, X7
	PCMPEQB X1, X8
	PCMPEQB X1, X9
	COMBINE(X2, X3, X4, X5, DI)
	COMBINE(X6, X7, X8, X9, R8)
	ADDQ    $64, SI
	ADDQ    $8, DI
	ADDQ    $8, R8
	DECQ    CX
	JNZ     block
	RET

// func findBlocksAVX2(quotes, slashes *uint64, text *byte, n int)
TEXT ·findBlocksAVX2(SB), NOSPLIT, $0-32
	MOVQ         quotes+0(FP), DI
	MOVQ         slashes+8(FP), R8
	MOVQ         text+16(FP), SI
	MOVQ         n+24(FP), CX
	MOVQ         $0x22, AX
	MOVQ         AX, X0
	VPBROADCASTB X0, Y0
	MOVQ         $0x5c, AX
	MOVQ         AX, X1
	VPBROADCASTB X1, Y1

block:
	VMOVDQU   (SI), Y2
	VMOVDQU   32(SI), Y3
	VPCMPEQB  Y0, Y2, Y4
	VPCMPEQB  Y0, Y3, Y5
	VPCMPEQB  Y1, Y2, Y6
	VPCMPEQB  Y1, Y3, Y7
	VPMOVMSKB Y4, AX
	VPMOVMSKB Y5, BX
	VPMOVMSKB Y6, DX
	VPMOVMSKB Y7, R9
	SHLQ      $32, BX
	SHLQ      $32, R9
	ORQ       BX, AX
	ORQ       R9, DX
	MOVQ      AX, (DI)
	MOVQ      DX, (R8)
	ADDQ      $64, SI
	ADDQ      $8, DI
	ADDQ      $8, R8
	DECQ      CX
	JNZ       block
	VZEROUPPER
	RET
