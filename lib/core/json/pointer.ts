import { isJsonObject, type Json } from './json.ts'

/** Whether a text is a JSON Pointer (RFC 6901). */
export const isJsonPointer = (text: string): boolean => /^(?:\/(?:[^/~]|~[01])*)*$/.test(text)

export function parseJsonPointer(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeName)
}

/** A name as it is written in a JSON Pointer. */
export const escapeName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
const unescapeName = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~')

/** JSON Pointers by the names that they consist of. `isEnd`: one ends here. */
export type PointerTree = { isEnd: boolean; members: Map<string, PointerTree> }

export function toPointerTree(pointers: readonly string[]): PointerTree {
  const root: PointerTree = { isEnd: false, members: new Map() }
  for (const pointer of pointers) {
    let tree = root
    for (const name of parseJsonPointer(pointer)) {
      const member = tree.members.get(name) ?? { isEnd: false, members: new Map() }
      tree.members.set(name, member)
      tree = member
    }
    tree.isEnd = true
  }
  return root
}

/** A value without what the pointers point to. In an array, it becomes null: the other items keep their places. */
export function withoutPointers(value: Json, { members, isEnd }: PointerTree): Json {
  if (isEnd) return null
  if (members.size === 0) return value
  if (Array.isArray(value))
    return value.map((item, index) => withoutPointers(item, members.get(String(index)) ?? NONE))
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const tree = members.get(name) ?? NONE
    return tree.isEnd ? [] : [[name, withoutPointers(member, tree)]]
  })
  return Object.fromEntries(kept)
}

const NONE: PointerTree = { isEnd: false, members: new Map() }
