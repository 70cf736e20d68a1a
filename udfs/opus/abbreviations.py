"""Abbreviations of each language, and words that begin sentences: what tells whether a full stop ends one (ours)."""

ABROAD = "Mr Mrs Ms Dr Jr Sr Prof Mme Mlle"
"""Titles of English, which hold in all languages, because films name English people. Others are words elsewhere:
``Sen.`` is a Turkish sentence."""
ABBREVIATIONS = {
    "en": "Mr Mrs Ms Mx Prof Capt Col Gen Lt Sgt Rev Mt Gov Sen Rep Pres Maj Cpl Pvt Cmdr Adm Fr Insp Det Supt Messrs "
    "Mme Mlle vs | Dr St Jr Sr Ave Blvd Hon Co Corp Inc Ltd",
    "de": "Hr Hrn Fr Frl Dr Prof St Nr Hptm Mr Mrs ca bzw evtl ggf inkl sog vgl geb Ing Kap Abs Bd Fa Fam Tel z.B d.h "
    "u.U z.T i.d.R | Str Jh Mio Mrd usw usf u.a u.ä o.ä v.Chr n.Chr",
    "fr": "M MM Mr Mrs Mme Mmes Mlle Dr Pr St Ste Me Mgr Cdt Cne Col Gén Lt env av boul bd cf c.-à-d p.ex "
    "| etc av.J.-C ap.J.-C",
    "es": "Sr Sra Srta Srs Sres Dr Dra D Dña Prof Lic Ing Cap Gral Cnel Tte Sgto Sto Sta Mr Mrs Av Avda Cía pág núm "
    "p.ej | a.m p.m Ud Uds Vd Vds etc EE.UU a.C d.C S.A",
    "pt": "Sr Sra Srta Dr Dra Prof Profa Eng Cap Cel Gen Ten Sgt Exmo Mr Mrs D Av pág núm p.ex | etc Ltda a.C d.C S.A",
    "it": "Sig Sigg Dott Dr Prof Avv Ing Arch Cap Col Gen Mons Mr Mrs pag ca p.es | ecc a.C d.C S.p.A",
    "nl": "Dhr Mevr Mw Mr Dr Prof Ir Drs St Jr Sr bijv bv ca nl nr d.w.z m.b.t t.a.v | enz etc e.d a.u.b v.Chr n.Chr",
    "ru": "г гг ул пр просп стр проф акад доц тов гр св напр т т.е т.к т.н | руб коп тыс млн млрд др т.д т.п н.э",
    "uk": "п пп м вул проф акад св напр т.зв | грн тис млн млрд т.д т.п н.е",
    "pl": "P Pp Dr Prof Inż Mgr Gen Płk Kpt Por Św ul al np tzn tzw tj m.in godz | itd itp p.n.e n.e r",
    "cs": "P Dr Prof Ing Mgr Gen Plk Kpt Sv ul nám např tzv tj mj | atd apod př.n.l",
    "sk": "P Dr Prof Ing Mgr Gen Plk Kpt Sv ul nám napr tzv tj | atď apod",
    "hr": "G Gđa Gđica Dr Prof Sv ul npr tj tzv | itd itsl",
    "sl": "G Ga Gdč Dr Prof Sv ul npr tj t.i | itd ipd",
    "bg": "ул бул проф доц инж св напр т.е т.нар | т.н др лв",
    "ro": "Dl Dna Dra Dr Prof Ing Sf str nr | etc",
    "hu": "Dr Prof Id Ifj Özv pl kb ún | stb i.sz i.e",
    "sv": "Dr Prof Hr Fr St ca kl nr t.ex bl.a s.k d.v.s | etc osv m.m f.Kr e.Kr",
    "da": "Dr Prof Hr Fr Sct Skt ca kl nr f.eks bl.a dvs | osv m.m mio mia f.Kr e.Kr",
    "no": "Dr Prof Hr Fr St ca kl nr f.eks bl.a dvs | osv m.m mill mrd f.Kr e.Kr",
    "fi": "Hra Rva Nti Tri Dr Prof Pyh esim ns nro | jne yms ym eKr jKr",
    "tr": "Dr Prof Doç Av Alb Bnb Yzb Hz Sn örn bkz | vb vs M.Ö M.S",
    "el": "κ κα κος Δρ Καθ Αγ οδ αρ δηλ π.χ | κλπ κτλ κ.λπ κ.ά μ.Χ μ.μ π.μ",
    "id": "Tn Ny Dr Prof Jl | dll dsb dst",
    "ca": "Sr Sra Dr Dra Prof Av núm pàg p.ex | etc a.C d.C",
    "ar": "د أ م",
    "hi": "डॉ श्री प्रो पं",
    "th": "ดร ศ รศ ผศ นพ พญ อ น.ส ด.ช ด.ญ",
}
"""Abbreviations by language, in any case, written with a full stop, which ends no sentence; one of those behind the bar
does before a word of ``BEGINNINGS``. A blank may stand between two parts of one: ``z.B`` is ``z. B.``, too."""
ABBREVIATIONS |= dict.fromkeys(("bs", "sr"), ABBREVIATIONS["hr"])
BEGINNINGS = {
    "en": "he she it we they you i this that these those there the a an my your his her our their what who where when "
    "why how which and but or so if then now no yes not do did does can could will would let is are was were",
    "de": "er sie es wir ihr ich du man das dies der die den dem ein eine einen mein dein sein unser was wer wo wann "
    "warum wie und aber oder dann jetzt da ja nein nicht kein wenn als ist sind war hast habt haben kann komm",
    "fr": "il elle on nous vous ils elles je tu j c ce ça cela et mais ou puis alors qui que quoi où quand pourquoi "
    "comment oui non si mon ton son notre votre leur",
    "es": "él ella ellos ellas yo tú usted ustedes esto eso este ese es y pero o entonces quién qué dónde cuándo por "
    "cómo sí no si el la los las un una mi tu su",
    "pt": "ele ela eles elas eu tu você vocês nós isto isso este esse é e mas ou então quem que onde quando por como "
    "sim não se o a os as um uma meu seu",
    "it": "lui lei noi voi loro io tu questo quello è e ma o poi allora chi che cosa dove quando perché come sì no se "
    "il i gli un una mio tuo suo",
    "nl": "hij zij ze het wij we jullie jij je ik u dit dat deze die en maar of dan nu wie wat waar wanneer waarom hoe "
    "ja nee niet als een mijn jouw zijn ons",
    "ru": "он она оно мы вы они я ты это этот эта тот и а но или потом теперь кто что где когда почему как да нет не "
    "если мой твой наш ваш его её их",
    "uk": "він вона воно ми ви вони я ти це цей ця і й а але або потім тепер хто що де коли чому як так ні не якщо мій "
    "твій наш ваш його її їх",
    "pl": "on ona ono my wy oni one ja ty pan pani to ten ta i a ale lub potem teraz kto co gdzie kiedy dlaczego jak "
    "tak nie jeśli mój twój nasz wasz jego jej ich",
    "cs": "on ona ono my vy oni já ty to ten ta tohle a ale nebo pak teď kdo co kde kdy proč jak ano ne jestli můj "
    "tvůj náš váš",
    "tr": "o ben sen biz siz onlar bu şu ve ama ya sonra şimdi kim ne nerede nasıl neden evet hayır eğer bir benim",
    "el": "αυτός αυτή αυτό εμείς εσείς αυτοί εγώ εσύ και αλλά ή μετά τώρα ποιος τι πού πότε γιατί πώς ναι όχι δεν αν "
    "ο η το οι τα",
    "sv": "han hon den det vi ni de jag du detta och men eller sedan nu vem vad var när varför hur ja nej inte om en",
    "da": "han hun den det vi de jeg du dette og men eller så nu hvem hvad hvor hvornår hvorfor ja nej ikke hvis en",
    "no": "han hun den det vi dere de jeg du dette og men eller så nå hvem hva hvor når hvorfor ja nei ikke hvis en",
}
"""Words that begin sentences and stand in no name, so no articles that stand in names: ``M. Le Pen``."""
ONE_LETTER = {"en": "I", "ru": "Я", "uk": "Я", "bg": "Я", "it": "È", "pt": "É"}
"""Words of one letter that end sentences, as initials do not: ``So do I. Come in.``"""
BEFORE_NUMBERS = (
    "Nr Núm Num č Art Fig Vol Ch Pt Op p pp art n° с № vgl S Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec"
)
NO_IS_A_WORD = frozenset(["es", "it", "ca", "gl"])
"""Languages in which ``No. 5`` is an answer and a number, not one number."""
ORDINALS = frozenset(["de", "da", "no", "fi", "cs", "sk", "sl", "hr", "bs", "sr", "pl", "hu", "et", "lv", "tr", "is"])
"""Languages that write a full stop behind ordinal numbers."""
