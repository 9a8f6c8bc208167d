/** The same value; `onRead` is called for each property that is read, at any depth. */
export function countReads<T>(value: T, onRead: () => void): T {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key, receiver) {
      onRead()
      return countReads(Reflect.get(target, key, receiver), onRead)
    },
  })
}
