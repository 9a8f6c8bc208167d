/**
 * Detects what a run leaves behind in its thread: open handles such as timers and sockets, changed environment
 * variables, new globals, and patched built-ins. A thread with any of these is not used again.
 */
export function watchThread(): { isClean: () => boolean } {
  let builtIns = readBuiltIns()
  const environment = JSON.stringify(process.env)
  const handles = countHandles()
  return {
    isClean: () => {
      const isClean =
        JSON.stringify(process.env) === environment &&
        isWithin(countHandles(), handles) &&
        isUnchanged(builtIns)
      if (isClean && builtIns.hasUndici !== isUndiciLoaded()) builtIns = readBuiltIns()
      return isClean
    },
  }
}

/** Without message ports: those of earlier tasks close later. */
function countHandles(): Map<string, number> {
  const counts = new Map<string, number>()
  const types = process.getActiveResourcesInfo().filter((type) => type !== 'MessagePort')
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

const isWithin = (counts: Map<string, number>, limits: Map<string, number>): boolean =>
  [...counts].every(([type, count]) => count <= (limits.get(type) ?? 0))

/** Reading one of these globals loads undici, which takes 20 ms: they are compared once the agent has loaded it. */
const OF_UNDICI = new Set([
  'FormData',
  'Headers',
  'Request',
  'Response',
  'MessageEvent',
  'CloseEvent',
  'WebSocket',
  'EventSource',
])
const isUndiciLoaded = () => Symbol.for('undici.globalDispatcher.1') in globalThis

type BuiltIns = {
  /** Number of properties of the global object. */
  globals: number
  hasUndici: boolean
  objects: { object: object; keys: number }[]
  values: { object: Record<PropertyKey, unknown>; key: PropertyKey; value: unknown }[]
  accessors: { object: object; key: PropertyKey; get: unknown }[]
}

/**
 * Globals, their properties, and those of their prototypes. Getters are not called, because some load modules. Symbols
 * of the global object are ignored, because Node adds some when `fetch` is first used.
 */
function readBuiltIns(): BuiltIns {
  const allNames = Object.getOwnPropertyNames(globalThis)
  const hasUndici = isUndiciLoaded()
  const builtIns: BuiltIns = { globals: allNames.length, hasUndici, objects: [], values: [], accessors: [] }
  const addProperties = (object: object, keys: PropertyKey[]) => {
    for (const key of keys) {
      const { value, get } = Reflect.getOwnPropertyDescriptor(object, key) ?? {}
      if (get) builtIns.accessors.push({ object, key, get })
      else builtIns.values.push({ object: object as Record<PropertyKey, unknown>, key, value })
    }
  }
  const names = hasUndici ? allNames : allNames.filter((name) => !OF_UNDICI.has(name))
  addProperties(globalThis, names)
  for (const name of names) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value
    if (!isObject(value) || value === globalThis || value === process) continue
    const prototype: unknown = Reflect.getOwnPropertyDescriptor(value, 'prototype')?.value
    for (const object of isObject(prototype) ? [value, prototype] : [value]) {
      const keys = Reflect.ownKeys(object)
      builtIns.objects.push({ object, keys: keys.length })
      addProperties(object, keys)
    }
  }
  builtIns.values = builtIns.values.filter(({ value }) => !Number.isNaN(value))
  return builtIns
}

const isUnchanged = ({ globals, objects, values, accessors }: BuiltIns): boolean =>
  Object.getOwnPropertyNames(globalThis).length === globals &&
  objects.every(({ object, keys }) => Reflect.ownKeys(object).length === keys) &&
  values.every(({ object, key, value }) => object[key] === value) &&
  accessors.every(({ object, key, get }) => Reflect.getOwnPropertyDescriptor(object, key)?.get === get)

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
