/** The most common passwords of at least ten characters. Shorter ones are refused anyway, and sign-ins are throttled. */
const common = new Set(
  `
  1234567890 12345678910 123456789a 0123456789 123456789q 1234567891 9876543210 0987654321 1111111111 0000000000
  1212121212 1q2w3e4r5t 1qaz2wsx3edc q1w2e3r4t5 qwertyuiop qwerty1234 qwerty12345 qwerty123456 1234qwerasdf
  qwertyuiop123 asdfghjkl123 asdfghjkl; zxcvbnm123 zaq12wsxcde3 password12 password123 password1234 password12345
  passw0rd123 p@ssw0rd123 p@ssword123 password123! passwordpassword mypassword mypassword1 newpassword changeme123
  letmein123 letmein1234 welcome123 welcome1234 welcome2024 welcome2025 welcome2026 iloveyou123 iloveyou12
  iloveyouso administrator admin12345 admin123456 adminadmin superadmin rootroot12 1234567890q abcdefghij
  abcdefghijk abcd123456 abc1234567 a123456789 aa12345678 aa123456789 abcde12345 qazwsxedcrfv qwe123qwe123
  qweasdzxc123 1qazxsw23edc asdf123456 asdfasdfasdf 123qweasdzxc 123123123123 1234512345 1122334455 123454321a
  princess123 sunshine123 football123 baseball123 basketball superman123 batman12345 dragon12345 monkey12345
  shadow12345 michael123 jessica123 charlie123 liverpool1 liverpool123 chelsea123 arsenal123 barcelona1 realmadrid
  manchester pokemon123 minecraft1 minecraft123 starwars123 naruto12345 computer123 internet123 samsung123
  google12345 facebook123 whatsapp123 trustno1234 secret12345 hellohello hello12345 goodmorning qwertyqwerty
  summer2024 summer2025 summer2026 winter2024 winter2025 winter2026 spring2025 autumn2025 december2025 november2026
  january2026 1234abcd1234 aaaaaaaaaa testtest12 test123456 test12345678 testpassword guest12345 default123
  parleyparley correcthorse correcthorsebatterystaple alexander1 christopher elizabeth1 lovelovelove babygirl123
  jordan12345 freedom123 mustang123 whatever123 blink182182 metallica1 september1 1q2w3e4r5t6y 1q2w3e4r5t6y7u8i
  147258369a 1472583690 159753159753 987654321a 741852963a 789456123a 5555555555 6666666666 7777777777 8888888888
  9999999999 2222222222 3333333333 4444444444 1029384756 0192837465 qwertyuiop[] qwer1234qwer qwert12345
  1qaz@wsx3edc passwort123 passwort1234 hallo12345 contraseña contrasena123 motdepasse motdepasse1 azertyuiop
  azerty1234 azerty12345 azerty123456
`
    .trim()
    .split(/\s+/),
);

/** Without regard to case, and to what is put at the end to please a rule. */
export function isCommonPassword(password: string): boolean {
  const plain = password.toLowerCase();
  return common.has(plain) || common.has(plain.replace(/[!?.$#*]+$/, ''));
}
