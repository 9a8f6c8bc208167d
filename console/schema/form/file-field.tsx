import { useState } from 'preact/hooks'
import { findMediaType, type Media } from '../../../lib/core/media.ts'
import type { FileLimits } from '../../../lib/schema/files/file-schema.ts'
import { describeFile } from '../../components/json-tree.ts'
import { Text, VisibleText } from '../../components/visible-text.tsx'
import { getMember, valueNode } from '../json-edit.ts'
import type { JsonNode } from '../json-node.ts'
import {
  FieldFrame,
  type FieldProps,
  RemoveButton,
  useControl,
  useFocusNext,
  useForm,
} from './field-frame.tsx'

/** A file that is chosen. Its base64 is never in a control. */
export function FileField({ limits, ...props }: FieldProps & { limits: FileLimits }) {
  const { node, path, label } = props
  const { onChange } = useForm()
  const control = useControl(props)
  const focusNext = useFocusNext()
  const [problem, setProblem] = useState<string | null>(null)
  const file = node && fileOf(node)

  async function choose(chosen: File) {
    const data = await readBase64(chosen)
    const mediaType = findMediaType(data)
    const isAccepted = mediaType !== undefined && limits.mediaTypes.includes(mediaType)
    setProblem(isAccepted ? null : `${chosen.name} is not one of ${limits.mediaTypes.join(', ')}.`)
    if (isAccepted) onChange(path, valueNode({ mediaType, data } satisfies Media))
  }

  return (
    <FieldFrame {...props}>
      {file && (
        <p>
          <VisibleText text={describeFile(file) ?? ''} />{' '}
          <RemoveButton
            subject={`the file of ${label}`}
            onClick={() => {
              focusNext(() => document.getElementById(control.id))
              onChange(path, typeof path.at(-1) === 'number' ? valueNode(null) : undefined)
            }}
          />
        </p>
      )}
      <input
        {...control}
        type="file"
        accept={limits.mediaTypes.join(',')}
        onChange={({ currentTarget }) => {
          const [chosen] = currentTarget.files ?? []
          if (chosen) choose(chosen).catch((error: Error) => setProblem(error.message))
        }}
      />
      <Text class="field-error" text={problem} />
    </FieldFrame>
  )
}

export function fileOf(node: JsonNode): Media | undefined {
  const [mediaType, data] = [getMember(node, 'mediaType'), getMember(node, 'data')]
  if (mediaType?.type !== 'string' || data?.type !== 'string') return undefined
  return { mediaType: mediaType.value, data: data.value }
}

/** A value with others in place of its files. Undefined: members are left out, and items null keep their places. */
export function replaceFiles(node: JsonNode, replace: () => JsonNode | undefined): JsonNode | undefined {
  if (node.type === 'array')
    return { ...node, items: node.items.map((item) => replaceFiles(item, replace) ?? valueNode(null)) }
  if (node.type !== 'object') return node
  if (fileOf(node)) return replace()
  const members = node.members.flatMap((member) => {
    const value = replaceFiles(member.value, replace)
    return value ? [{ ...member, value }] : []
  })
  return { ...node, members }
}

/** The browser encodes a data URL much faster than a loop over bytes. */
const readBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,?/, ''))
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`))
    reader.readAsDataURL(file)
  })
