import { useLayoutEffect, useReducer } from 'preact/hooks'

export type Store<T> = { get(): T; set(value: T): void; subscribe(listener: () => void): () => void }

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(value, next)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The value of a store; the component renders again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const value = store.get()
  const [, render] = useReducer((count: number, _: undefined) => count + 1, 0)
  useLayoutEffect(() => {
    const listener = () => render(undefined)
    // It may have changed between the rendering and this effect.
    if (!Object.is(store.get(), value)) listener()
    return store.subscribe(listener)
  }, [store])
  return value
}
