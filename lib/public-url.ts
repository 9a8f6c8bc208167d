const LOCAL_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export const PUBLIC_URL_RULE =
  'an https URL such as `https://api.example.com/live`, without query; http for this machine'

/** Whether nobody else can read what is sent to the URL. */
export function isSecureUrl(text: string): boolean {
  const { protocol, hostname, username, password } = URL.parse(text) ?? {}
  const isSecure = protocol === 'https:' || (protocol === 'http:' && LOCAL_HOST.test(hostname ?? ''))
  return isSecure && !username && !password && !/\s/.test(text)
}

/** Whether paths can be added to the URL, which is secure. */
export const isBaseUrl = (text: string): boolean => isSecureUrl(text) && !/[?#]/.test(text)

/** The URL without slashes at its end. @throws an Error for another text, which it does not contain */
export function parsePublicUrl(text: string): string {
  if (isBaseUrl(text)) return text.replace(/\/+$/, '')
  throw new Error(`must be ${PUBLIC_URL_RULE.replaceAll('`', '')}.`)
}

export const HTTP_URL_RULE = 'an http or https URL'

/** @throws an Error without the text, because it may contain a password */
export function parseHttpUrl(text: string): void {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? '')) throw new Error(`must be ${HTTP_URL_RULE}.`)
}
