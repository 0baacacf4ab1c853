"""The repositories of Universal Dependencies: language, its code, and the names of its treebanks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Repository:
    """A treebank's repository and the code its files start with."""

    name: str
    code: str


def repository(wanted: str) -> Repository | None:
    """The repository of a code or of a name; a name may be newer than the list if its language is on it.

    >>> repository("cy_ccg") == repository("UD_Welsh-CCG") == Repository("UD_Welsh-CCG", "cy_ccg")
    True
    >>> repository("UD_Welsh-New")
    Repository(name='UD_Welsh-New', code='cy_new')
    """
    for known in repositories():
        if wanted.lower() in (known.code, known.name.lower()):
            return known
    language, dash, treebank = wanted.removeprefix("UD_").rpartition("-")
    code = _languages().get(language)
    if wanted.startswith("UD_") and dash and treebank.isalnum() and code:
        return Repository(wanted, f"{code}_{treebank.lower()}")
    return None


def repositories() -> list[Repository]:
    """All repositories on the list."""
    return [
        Repository(f"UD_{language}-{treebank}", f"{code}_{treebank.lower()}")
        for language, code, *treebanks in map(str.split, TABLE.splitlines())
        for treebank in treebanks
    ]


def _languages() -> dict[str, str]:
    return {language: code for language, code, *_ in map(str.split, TABLE.splitlines())}


TABLE = """\
Abaza abq ATB
Abkhaz ab AbNC
Afrikaans af AfriBooms
Akkadian akk PISANDUB RIAO
Akuntsu aqz TuDeT
Albanian sq STAF TSA
Alemannic gsw DIVITAL UZH
Amharic am ATT
Ancient_Greek grc PROIEL PTNK Perseus
Ancient_Hebrew hbo PTNK
Apurina apu UFPA
Arabic ar NYUAD PADT PUD
Armenian hy ArmTDP BSUT
Assamese as AiW
Assyrian aii AS
Azerbaijani az TueCL
Bambara bm CRB
Basque eu BDT
Bavarian bar MaiBaam
Beja bej Autogramm
Belarusian be HSE
Bengali bn BRU
Bhojpuri bho BHTB
Bokota sab ChibErgIS
Bororo bor BDT
Brahui brh Kholum
Breton br KEB
Bulgarian bg BTB
Buryat bxr BDT
Cantonese yue HK
Cappadocian cpg AMGiC TueCL
Catalan ca AnCora
Cebuano ceb GJA
Central_Kurdish ckb Mukri
Chinese zh Beginner CFL GSD GSDSimp HK PUD PatentChar
Chintang ctn CTNTB
Chukchi ckt HSE
Classical_Armenian xcl CAVaL
Classical_Chinese lzh Kyoto TueCL
Coptic cop Bohairic Scriptorium
Croatian hr SET
Czech cs CAC CLTT FicTree PDTC PUD Poetry
Danish da DDT
Dutch nl Alpino LassySmall
Egyptian egy PC
English en Atis CHILDES CTeTex ESLSpok EWT GENTLE GUM GUMReddit LinES LittlePrince PUD ParTUT Pronouns
Erzya myv JR
Esperanto eo Cairo Prago
Estonian et EDT EWT
Faroese fo FarPaHC OFT
Finnish fi FTB OOD PUD TDT
French fr ALTS FQB GSD PUD ParTUT ParisStories PoitevinDIVITAL Rhapsodie Sequoia
Frisian_Dutch qfn Fame
Galician gl CTG PUD TreeGal
Georgian ka GLC GNC
German de GSD HDT LIT PUD
Gheg aln GPS
Gorontalo gor BungoLoLombi
Gothic got PROIEL
Greek el Cretan GDT GLCII GUD Lesbian Messinian
Guajajara gub TuDeT
Guarani gn OldTuDeT
Gujarati gu GujTB
Gwichin gwi TueCL
Haitian_Creole ht Adolphe Autogramm
Hausa ha EasternAutogramm NorthernAutogramm SouthernAutogramm WesternAutogramm
Hebrew he HTB IAHLTknesset IAHLTwiki PostRab
Highland_Puebla_Nahuatl azz ITML
Hindi hi HDTB PUD
Hittite hit HitTB
Hungarian hu Szeged
Icelandic is GC IcePaHC Modern PUD
Ika arh ChibErgIS
Indonesian id CSUI GSD PUD
Irish ga Cadhan IDT TwittIrish
Italian it ISDT KIParlaForest MarkIT Old PUD ParTUT ParlaMint PoSTWITA TWITTIRO VIT Valico
Japanese ja BCCWJ BCCWJLUW GSD GSDLUW PUD PUDLUW
Javanese jv CSUI
Kaapor urb TuDeT
Kadiweu kbc Unicamp
Kangri xnr KDTB
Karelian krl KKPP
Karo arr TuDeT
Kazakh kk KTB
Khoekhoe naq KDT
Kiche quc IU
Komi_Permyak koi UH
Komi_Zyrian kpv IKDP Lattice
Korean ko GSD KSL Kaist LittlePrince PUD
Kyrgyz ky KTMU TueCL
Latgalian ltg Cairo
Latin la CIRCSE ITTB LLCT PROIEL Perseus UDante
Latvian lv Cairo LVTB
Ligurian lij GLT
Lithuanian lt ALKSNIS HSE
Livvi olo KKPP
Low_Saxon nds LSDC
Luxembourgish lb LuxBank
Macedonian mk MTB
Madi jaa Jarawara
Maghrebi_Arabic_French qaf Arabizi
Makurap mpu TuDeT
Malayalam ml UFAL
Maltese mt MUDT
Manx gv Cadhan
Marathi mr CMUPAN UFAL
Mbya_Guarani gun Thomas
Middle_Armenian axm ArmTDP
Middle_French frm ALTM PROFITEROLE
Moksha mdf JR
Munduruku myu TuDeT
Naga nmf Suansu
Naija pcm NSC
Neapolitan nap RB
Nenets yrk Tundra
Nepali ne BK
Nheengatu yrl CompLin
North_Sami sme Giella
Northern_Kurdish kmr Kurmanji
Northwest_Gbaya gya Autogramm
Norwegian no Bokmaal Nynorsk NynorskLIA
Occitan oc TTB
Odia or ODTB
Old_Church_Slavonic cu PROIEL
Old_East_Slavic orv Birchbark RNC Ruthenian TOROT
Old_English ang Cairo
Old_French fro ALTM PROFITEROLE
Old_Georgian oge GLC
Old_Irish sga DipSGG DipWBG
Old_Occitan pro CorAG
Old_Turkish otk Clausal
Ottoman_Turkish ota BOUN DUDU TueCL
Pashto ps Prince Sikaram
Paumari pad TueCL
Persian fa PerDT Seraji
Pesh pay ChibErgIS
Phrygian xpg KUL
Polish pl LFG MPDT PDB PUD
Pomak qpm Philotis
Portuguese pt Bosque CINTIL DANTEStocks GSD PUD PetroGold Porttinari
Punjabi pa CS Rang
Romanian ro ArT MolDoRo Nonstandard RRT SiMoNERo TueCL
Russian ru GSD PUD Poetry SynTagRus Taiga
Ruuli ruc RDT
Sanskrit sa UFAL Vedic
Scottish_Gaelic gd ARCOSG
Serbian sr SET
Shanghainese wuu ShUD
Sicilian scn STB
Sindhi sd Isra
Sinhala si Appuwa STB
Skolt_Sami sms Giellagas
Slovak sk SNK
Slovenian sl SSJ SST
South_Levantine_Arabic ajp MADAR
Southern_Kurdish sdh Garrusi
Spanish es AnCora COSER GSD PUD
Spanish_Sign_Language ssp LSE
Swedish sv LinES Old PUD SweLL Talbanken
Swedish_Sign_Language swl SSLC
Tagalog tl TRG Ugnayan
Tamil ta MWTT TTB
Tatar tt NMCTT
Teko eme TuDeT
Telugu te MTG
Telugu_English qte TECT
Thai th PUD TUD
Tswana tn Popapolelo
Tupinamba tpn TuDeT
Turkish tr Atis BOUN FrameNet GB IMST Kenet PUD Penn Tourism TueCL
Turkish_English qti BUTR
Turkish_German qtd SAGT
Ukrainian uk IU ParlaMint
Umbrian xum IKUVINA
Upper_Sorbian hsb UFAL
Urdu ur UDTB
Uyghur ug UDT
Uzbek uz TueCL UT UzUDT
Veps vep VWT
Vietnamese vi TueCL VTB
Warlpiri wbp UFAL
Welsh cy CCG
Western_Armenian hyw ArmTDP
Western_Sierra_Puebla_Nahuatl nhi MesoTree
Wolof wo WTB
Xavante xav XDT
Xibe sjo XDT
Yakut sah YKTDT
Yiddish yi YiTB
Yoruba yo YTB
Yupik ess SLI
Zaar say Autogramm
Zazaki zza ZSD
"""
