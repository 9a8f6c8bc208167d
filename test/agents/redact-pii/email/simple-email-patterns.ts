const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([address]) => address)
const lastLabel = (address: string) => address.slice(address.lastIndexOf('.') + 1)

/** Common email patterns, written independently of the agent. A redacted text must not match them. */
export const SIMPLE_EMAIL_PATTERNS: ((text: string) => string[])[] = [
  (text) => all(text, /[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}/g),
  (text) =>
    all(text, /\b[\w.+-]+@[\w-]+\.[\w.-]+\b/g).filter((address) => /[A-Za-z]/.test(lastLabel(address))),
  (text) => all(text, /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/gu),
]
