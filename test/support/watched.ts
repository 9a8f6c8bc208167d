/** The same value, with `onRead` called for each member that is read of it, at any depth. */
export function watched<T>(value: T, onRead: () => void): T {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key, receiver) {
      onRead()
      return watched(Reflect.get(target, key, receiver), onRead)
    },
  })
}
