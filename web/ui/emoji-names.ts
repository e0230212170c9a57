/** Emoji and their names, the common ones first. Some have several names. */
const list = `
👍 +1 thumbsup yes|👎 -1 thumbsdown no|❤️ heart love|😂 joy|🎉 tada party|👀 eyes|🙏 pray thanks|🔥 fire|✅ white_check_mark done
👏 clap|💯 100|😊 blush|😍 heart_eyes|🤔 thinking|😮 open_mouth wow|😢 cry sad|😡 rage angry|👋 wave hello|🚀 rocket|🐛 bug
☕ coffee|🍕 pizza|🌱 seedling|💡 bulb idea|❌ x|😀 grinning|😃 smiley|😄 smile|😁 grin|😆 laughing|😅 sweat_smile|🤣 rofl
🙂 slightly_smiling_face|🙃 upside_down_face|😉 wink|😇 innocent|🥰 smiling_face_with_hearts|🤩 star_struck|😘 kissing_heart
😋 yum|😛 stuck_out_tongue|😜 stuck_out_tongue_winking_eye|🤪 zany_face|🤑 money_mouth_face|🤗 hugs hug|🤭 hand_over_mouth
🤫 shushing_face|🤐 zipper_mouth_face|🤨 raised_eyebrow|😐 neutral_face|😑 expressionless|😶 no_mouth|😏 smirk|😒 unamused
🙄 roll_eyes|😬 grimacing|🤥 lying_face|😌 relieved|😔 pensive|😪 sleepy|😴 sleeping|😷 mask|🤒 face_with_thermometer
🤕 face_with_head_bandage|🤢 nauseated_face|🤮 vomiting_face|🤧 sneezing_face|🥵 hot_face|🥶 cold_face|😵 dizzy_face
🤯 exploding_head mind_blown|🤠 cowboy_hat_face|🥳 partying_face|😎 sunglasses cool|🤓 nerd_face|🧐 monocle_face|😕 confused
😟 worried|🙁 slightly_frowning_face|😯 hushed|😲 astonished|😳 flushed|🥺 pleading_face|😨 fearful|😰 cold_sweat
😥 disappointed_relieved|😭 sob|😱 scream|😖 confounded|😣 persevere|😞 disappointed|😓 sweat|😩 weary|😫 tired_face|🥱 yawning_face
😤 triumph|😠 angry_face|🤬 cursing_face|😈 smiling_imp|💀 skull|💩 poop|🤡 clown_face|👻 ghost|👽 alien|🤖 robot|😺 smiley_cat
🙈 see_no_evil|🙉 hear_no_evil|🙊 speak_no_evil|💋 kiss|💔 broken_heart|💕 two_hearts|💖 sparkling_heart|💙 blue_heart
💚 green_heart|💛 yellow_heart|🧡 orange_heart|💜 purple_heart|🖤 black_heart|🤍 white_heart|💥 boom|💫 dizzy|💦 sweat_drops
💤 zzz|✋ raised_hand|🖖 vulcan_salute|👌 ok_hand|🤏 pinching_hand|✌️ v victory|🤞 crossed_fingers|🤟 love_you_gesture|🤘 metal
🤙 call_me_hand|👈 point_left|👉 point_right|👆 point_up|👇 point_down|✊ fist|👊 facepunch|🙌 raised_hands|👐 open_hands
🤝 handshake|💅 nail_care|💪 muscle strong|🧠 brain|👶 baby|🤦 facepalm|🤷 shrug|🙋 raising_hand|🙇 bow|💃 dancer|🏃 running
🐶 dog|🐱 cat|🐭 mouse|🐰 rabbit|🦊 fox_face|🐻 bear|🐼 panda_face|🐯 tiger|🦁 lion|🐮 cow|🐷 pig|🐸 frog|🐵 monkey_face
🐔 chicken|🐧 penguin|🐦 bird|🦆 duck|🦉 owl|🐺 wolf|🦄 unicorn|🐝 bee|🦋 butterfly|🐌 snail|🐢 turtle|🐍 snake|🐙 octopus
🦀 crab|🐠 tropical_fish|🐬 dolphin|🐳 whale|🐘 elephant|🌵 cactus|🎄 christmas_tree|🌲 evergreen_tree|🌴 palm_tree|🍀 four_leaf_clover
🍁 maple_leaf|🌹 rose|🌻 sunflower|🌸 cherry_blossom|🍎 apple|🍌 banana|🍓 strawberry|🍒 cherries|🍋 lemon|🍉 watermelon
🥑 avocado|🥕 carrot|🍞 bread|🧀 cheese|🍔 hamburger|🍟 fries|🌭 hotdog|🌮 taco|🍣 sushi|🍜 ramen|🍦 icecream|🍩 doughnut
🍪 cookie|🎂 birthday cake|🍫 chocolate_bar|🍿 popcorn|🍵 tea|🍺 beer|🍻 beers cheers|🍷 wine_glass|🥂 champagne_glasses|🍾 champagne
⚽ soccer|🏀 basketball|🎾 tennis|🏆 trophy|🥇 first_place_medal|🎯 dart|🎮 video_game|🎲 game_die|🎸 guitar|🎵 musical_note
🎬 clapper|🎨 art|🎁 gift|🎈 balloon|🎃 jack_o_lantern|🚗 car|🚕 taxi|🚌 bus|🚲 bike|✈️ airplane|🚂 train|🚢 ship|🏠 house
🏢 office|🏖️ beach|⛰️ mountain|🌍 earth_africa|🌞 sun_with_face|☀️ sunny sun|🌙 moon|⭐ star|🌟 star2|✨ sparkles|⚡ zap
☁️ cloud|🌧️ rain|❄️ snowflake|⛄ snowman|🌈 rainbow|🌊 ocean|☔ umbrella|⌚ watch|📱 phone|💻 laptop|⌨️ keyboard|🖨️ printer
📷 camera|🎥 movie_camera|📺 tv|🔋 battery|🔌 electric_plug|🔦 flashlight|📚 books|📖 book|📝 memo|✏️ pencil|📌 pushpin
📎 paperclip|✂️ scissors|📅 date|📈 chart_up|📉 chart_down|📊 bar_chart|📦 package|📫 mailbox|📧 email|🔒 lock|🔓 unlock
🔑 key|🔨 hammer|🔧 wrench|⚙️ gear|🧪 test_tube|🔬 microscope|🔭 telescope|💊 pill|💰 moneybag|💳 credit_card|💎 gem|⏰ alarm_clock
⏳ hourglass|🔔 bell|🔕 no_bell|📣 mega|💬 speech_balloon|💭 thought_balloon|🔍 mag search|⚠️ warning|🚫 no_entry_sign|⛔ no_entry
❓ question|❗ exclamation|➕ heavy_plus_sign|➖ heavy_minus_sign|♻️ recycle|🆕 new|🆗 ok|🔴 red_circle|🟢 green_circle|🔵 blue_circle
🟡 yellow_circle|⬆️ arrow_up|⬇️ arrow_down|➡️ arrow_right|⬅️ arrow_left|🏁 checkered_flag|🚩 flag|🏳️‍🌈 rainbow_flag`;

export interface Emoji {
  readonly emoji: string;
  readonly name: string;
}

export const emojis: readonly Emoji[] = list
  .trim()
  .split(/[\n|]/)
  .flatMap((entry) => {
    const [emoji = '', ...names] = entry.split(' ');
    return names.map((name) => ({ emoji, name }));
  });
