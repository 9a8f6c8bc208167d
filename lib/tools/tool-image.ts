import type { ToolImage } from '../core/model.ts'

/** The smallest limit of the providers, Bedrock's. */
const MAX_IMAGE_BYTES = 3_750_000
/** Images of one result. */
const MAX_IMAGES = 5

/** The types that all providers accept, by the signatures of their files. */
const SIGNATURES: [mediaType: string, pattern: RegExp][] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
]

/** Null if the type is another one or the image too large: a provider would reject all further requests of the run. */
export function toImage(bytes: Buffer): ToolImage | null {
  const start = bytes.subarray(0, 16).toString('latin1')
  const [mediaType] = SIGNATURES.find(([, pattern]) => pattern.test(start)) ?? []
  if (!mediaType || bytes.length > MAX_IMAGE_BYTES) return null
  return { mediaType, data: bytes.toString('base64') }
}

/** Describes an image in the text of a result, for people and for models that do not accept images. */
export const describeImage = ({ mediaType }: ToolImage, bytes: number): string =>
  `[Image of type ${mediaType}, ${bytes} bytes.]`

/** Collects the images of one result, and returns the description of each for the text. */
export class ImageCollector {
  readonly images: ToolImage[] = []

  add(bytes: Buffer, mediaType: string): string {
    const image = toImage(bytes)
    if (!image || this.images.length === MAX_IMAGES) return `[Binary content of type ${mediaType} omitted.]`
    this.images.push(image)
    return describeImage(image, bytes.length)
  }
}
