/* SPDX-License-Identifier: LGPL-2.1-or-later AND Unicode-DFS-2016 */
/*
 * Characters that pass for one of ASCII, and marks that cover their letter.  Only notes.c asks.  The
 * first are a choice from confusables.txt of the Unicode security data, version 15.0.0: what it takes
 * to one ASCII character and has no note for another reason, but for quotation marks, the en dash, ×, ´
 * and ¸, which people write.  undersign-record(7) has the same list.
 */
#include "service/record/unicode.h"

typedef struct
{
  guint16 character;
  char like;
} LookAlike;

/* sorted */
static const LookAlike look_alikes[] = {
  {0x131,'i'}, {0x17f,'f'}, {0x184,'b'}, {0x18d,'g'}, {0x196,'l'}, {0x1a6,'R'}, {0x1a7,'2'},
  {0x1b7,'3'}, {0x1bc,'5'}, {0x1bd,'s'}, {0x1c0,'l'}, {0x1c3,'!'}, {0x21c,'3'}, {0x222,'8'},
  {0x223,'8'}, {0x241,'?'}, {0x251,'a'}, {0x261,'g'}, {0x263,'y'}, {0x269,'i'}, {0x26a,'i'},
  {0x26f,'w'}, {0x28b,'u'}, {0x28f,'y'}, {0x294,'?'}, {0x2b9,'\''}, {0x2bb,'\''}, {0x2bc,'\''},
  {0x2bd,'\''}, {0x2be,'\''}, {0x2c2,'<'}, {0x2c3,'>'}, {0x2c4,'^'}, {0x2c6,'^'}, {0x2c8,'\''},
  {0x2ca,'\''}, {0x2cb,'\''}, {0x2d0,':'}, {0x2d7,'-'}, {0x2db,'i'}, {0x2dc,'~'}, {0x2f4,'\''},
  {0x2f8,':'}, {0x384,'\''}, {0x55a,'\''}, {0x55d,'\''}, {0x589,':'}, {0x1400,'='}, {0x166d,'X'},
  {0x166e,'x'}, {0x16ec,':'}, {0x16ed,'+'}, {0x1735,'/'}, {0x1803,':'}, {0x1809,':'}, {0x1d04,'c'},
  {0x1d0f,'o'}, {0x1d11,'o'}, {0x1d1c,'u'}, {0x1d20,'v'}, {0x1d21,'w'}, {0x1d22,'z'}, {0x1d83,'g'},
  {0x1d8c,'y'}, {0x1e9d,'f'}, {0x1eff,'y'}, {0x1fbd,'\''}, {0x1fbf,'\''}, {0x1fc0,'~'},
  {0x1ffe,'\''}, {0x2010,'-'}, {0x2011,'-'}, {0x2012,'-'}, {0x2024,'.'}, {0x2041,'/'}, {0x2043,'-'},
  {0x2044,'/'}, {0x204e,'*'}, {0x2053,'~'}, {0x205a,':'}, {0x212e,'e'}, {0x2160,'l'}, {0x2164,'V'},
  {0x2169,'X'}, {0x216c,'L'}, {0x216d,'C'}, {0x216e,'D'}, {0x216f,'M'}, {0x2170,'i'}, {0x2174,'v'},
  {0x2179,'x'}, {0x217c,'l'}, {0x217d,'c'}, {0x217e,'d'}, {0x217f,'m'}, {0x2212,'-'}, {0x2215,'/'},
  {0x2216,'\\'}, {0x2217,'*'}, {0x2223,'l'}, {0x2228,'v'}, {0x222a,'U'}, {0x2236,':'}, {0x223c,'~'},
  {0x22a4,'T'}, {0x22c1,'v'}, {0x22c3,'U'}, {0x22ff,'E'}, {0x2373,'i'}, {0x2374,'p'}, {0x237a,'a'},
  {0x23fd,'l'}, {0x2571,'/'}, {0x2573,'X'}, {0x2768,'('}, {0x2769,')'}, {0x276e,'<'}, {0x276f,'>'},
  {0x2772,'('}, {0x2773,')'}, {0x2774,'{'}, {0x2775,'}'}, {0x27cb,'/'}, {0x27cd,'\\'}, {0x27d9,'T'},
  {0x292b,'x'}, {0x292c,'x'}, {0x29f5,'\\'}, {0x29f8,'/'}, {0x29f9,'\\'}, {0x2a2f,'x'},
  {0x2e40,'='}, {0xa4ff,'='}, {0xa60e,'.'}, {0xa6eb,'?'}, {0xa6ef,'2'}, {0xa731,'s'}, {0xa75a,'2'},
  {0xa76a,'3'}, {0xa76e,'9'}, {0xa778,'&'}, {0xa789,':'}, {0xa78c,'\''}, {0xa798,'F'}, {0xa799,'f'},
  {0xa79f,'u'}, {0xa7ab,'3'}, {0xa7b2,'J'}, {0xa7b3,'X'}, {0xa7b4,'B'}, {0xab32,'e'}, {0xab35,'f'},
  {0xab3d,'o'}, {0xab47,'r'}, {0xab48,'r'}, {0xab4e,'u'}, {0xab52,'u'}, {0xab5a,'y'}, {0xfd3e,'('},
  {0xfd3f,')'}, {0xffe8,'l'},
};

/* First and last: canonical combining class 1, or general category Me. */
static const guint32 covering[][2] = {
  {0x334,0x338}, {0x488,0x489}, {0x1abe,0x1abe}, {0x1cd4,0x1cd4}, {0x1ce2,0x1ce8}, {0x20d2,0x20d3},
  {0x20d8,0x20da}, {0x20dd,0x20e0}, {0x20e2,0x20e6}, {0x20ea,0x20eb}, {0xa670,0xa672},
  {0x10a39,0x10a39}, {0x16af0,0x16af4}, {0x1bc9e,0x1bc9e}, {0x1d167,0x1d169},
};

char
char_looks_like (gunichar c)
{
  gsize low = 0;
  gsize high = G_N_ELEMENTS (look_alikes);

  while (low < high)
    {
      gsize middle = low + (high - low) / 2;

      if (c == look_alikes[middle].character)
        return look_alikes[middle].like;
      if (c > look_alikes[middle].character)
        low = middle + 1;
      else
        high = middle;
    }
  return '\0';
}

gboolean
char_covers (gunichar c)
{
  for (gsize i = 0; i < G_N_ELEMENTS (covering); i++)
    if (c >= covering[i][0] && c <= covering[i][1])
      return TRUE;
  return FALSE;
}
