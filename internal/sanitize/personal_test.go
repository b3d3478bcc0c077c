package sanitize

import "testing"

func TestFindPersonal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"write to jane.doe@firm.de.": "e-mail address", "from 93.184.216.34:443": "IP address", "2a02:908:1::17 answers": "IP address", "card 4111 1111 1111 1111": "card number", "IBAN DE89 3704 0044 0532 0130 00": "bank account",
		"user@example.com": "", "a@b.example": "", "git@github.com:o/r.git": "", "1+x@users.noreply.github.com": "", "version 1.2.3.4": "", "12.34.56.78.9": "", "127.0.0.1 and 192.168.1.20 and 10.0.0.7": "", "2001:db8::1": "", "12:34:56": "", "icon@2x.png": "",
		"id 1234567890123456": "", "4111 1111 1111 1112": "", "DE00 3704 0044 0532 0130 00": "", "std::vector::at": "", "0000000000000000": "", "93.184.216.341": "",
	} {
		found := FindPersonal(text)
		got := ""
		if len(found) > 0 {
			got = found[0].Kind
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
