import type { TextStorage } from '../../../console/state/browser-storage.ts'

/** A storage that has room for so many characters. */
export function aStorage(room = Number.POSITIVE_INFINITY): TextStorage & { all: () => string } {
  const texts = new Map<string, string>()
  const size = () => [...texts].reduce((sum, [key, text]) => sum + key.length + text.length, 0)
  return {
    get length() {
      return texts.size
    },
    key: (index) => [...texts.keys()][index] ?? null,
    getItem: (key) => texts.get(key) ?? null,
    setItem(key, text) {
      if (size() - (texts.get(key)?.length ?? 0) + text.length > room) throw new Error('QuotaExceededError')
      texts.set(key, text)
    },
    removeItem: (key) => void texts.delete(key),
    all: () => [...texts].flat().join('\n'),
  }
}
