// Written by scripts/words_table; do not edit. Four-letter words, each with the space that
// follows it: one token each in common tokenizers.
#pragma once

#include <cstddef>

namespace plimsoll {

inline constexpr std::size_t kWordCount = 807;
// kWordCount words of five bytes, the space included.
inline constexpr char kWords[] =
    "able acid acts adds aged ages aims also alto amen amid ante anti apps arch area "
    "army arts asks atom aunt auto aver away axis baby bags bail ball band bank bare "
    "bark barn bars base bast bath beam bean bear beat beds beef been beer bell bend "
    "bent best beta bike bill bind bite bits blew blob blog blow blue blur boat bold "
    "bolt bond bone book boom boot bore born boss both bout bowl bras brew brow buff "
    "bugs bulk bull bump bunk bush bust busy buzz byte cage cake call came camp cant "
    "caps card care cars cart case cash cast cats cave cell cent chap char chat chef "
    "chem chin chip chop city clan clay club clue coal coat code coin cold comb come "
    "comm conj cons cont cook cool cops copy cord core corn cost coup crew crop cups "
    "cure curl cute cuts damp dare dark dash data date dawn days deal dear debt deep "
    "deer dell dens dent deny dial dice diff dire dirt disc dish disk diss dive dock "
    "does dogs doll done door dorm dose dove down draw drew drum duck dude dull dust "
    "duty each earn ears ease easy echo edge eggs else emit ends epic even ever evil "
    "exam exec exit eyes face fact fade fail fair fall fame fare farm fast fear feat "
    "feed feel fees feet fell felt fest file fill film find fine fins firm fish fits "
    "five flag flat flaw fled flex flip flow foam fold folk font food fool foot fore "
    "fork form fort foul four frag free fuel full gain gall game gang gaps gave gaze "
    "gear gene gent gets gift give glad glob glow goal goes gold gone good gown grab "
    "grad gram gray grew grey grid grim grip grow hack hair half halt hand hang hard "
    "hash haul head heal heap hear heat held help here hero hide high hill hind hint "
    "hips hire hits hold hole holy home hood hope horn hour huge hung hunt icon idea "
    "idle inch info iron item jazz jest jobs join joke jump jury just keen keep kept "
    "keys kick kids kind king knee know lack lady laid lake land lane late lawn laws "
    "lazy lead leaf leak leap legs lens lets lies lieu life lift like line link lion "
    "lips list load loan lock logo logs long look lord lose loss lost loud love luck "
    "lung made maid main make male many maps mark mars mart mask mate math matt meal "
    "mean meat meet melt memo menu mesh mess meta mild mile milk mill mind mine mini "
    "mint miss mist mitt mock mode mold mole mood moon more most move mush must nail "
    "name navy near neat neck need nest news next nice nick nine node none noon norm "
    "nose note nous null nuts obey odds okay ones only onto open opts oral ours outs "
    "oven over owns pace pack page pair pale palm pant pare part path pays peak pear "
    "peas peer pens pent pert pets pick pier pile pine pink pint pipe pity plan plot "
    "plug plus poem pole poll poor port pose poss post pour prep pres prey prim prod "
    "prom pron prop pros prow pull pump punk punt push puts quad quit race rack raid "
    "rail rain rang rank rare rate read rear rein rely rend rent resp rest rice rich "
    "ride ring risk road rock rode role roof room root rope rose rout rows rude rule "
    "runs rush rust safe sage said sail sake salt same sand sang sank save says scan "
    "scar seal seas seat sect seed seek seem sees self sell semi send sera sets shed "
    "ship shop show shut sick sigh sign silk sing sink site sits situ size skin skip "
    "slid slim slot slow snap snow sock sofa soil sold sole solo some song sons soon "
    "sore sort soul soup sour span spat spec spin spot spun star stat stay stem step "
    "stir stop stub stud such suck suit sung sure swap sway swim sync tack tact tags "
    "tail tale talk tang tank tart task team tear tech teen tell temp tend tens tent "
    "term test text than that then they thin this thou thus tick tied tier ties tile "
    "till tilt time tips tire toes told toll tomb tone tong tons tool tops torn tort "
    "toss tour tout toys trap tray tree trim trip true tube tune turn twin type unit "
    "upon urge used uses vamp vary vast vend vent verb very vest vice view vine viol "
    "visa void volt vote wage wait wake walk wall want ward ware warm wash wave ways "
    "weak wear weed week well went were west what when wide wife will wind wine wing "
    "wins wire wise wish with woke wolf wood wool word wore work worm worn wrap writ "
    "yard yeah year yoga your zero zone ";

static_assert(sizeof(kWords) == 5 * kWordCount + 1);

}  // namespace plimsoll
