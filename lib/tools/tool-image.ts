import { findMediaType, isImageType, MAX_IMAGE_BYTES, type Media, SIGNATURE_BYTES } from '../core/media.ts'

/** Images of one result. */
const MAX_IMAGES = 5

/** Null if it is no image or too large: a provider would reject all further requests of the run. */
export function toImage(bytes: Buffer): Media | null {
  const mediaType = findMediaType(bytes.subarray(0, SIGNATURE_BYTES).toString('base64'))
  if (!mediaType || !isImageType(mediaType) || bytes.length > MAX_IMAGE_BYTES) return null
  return { mediaType, data: bytes.toString('base64') }
}

/** Describes an image in the text of a result, for people and for models that do not accept images. */
export const describeImage = ({ mediaType }: Media, bytes: number): string =>
  `[Image of type ${mediaType}, ${bytes} bytes.]`

/** Collects the images of one result, and returns the description of each for the text. */
export class ImageCollector {
  readonly images: Media[] = []

  add(bytes: Buffer, mediaType: string): string {
    const image = toImage(bytes)
    if (!image || this.images.length === MAX_IMAGES) return `[Binary content of type ${mediaType} omitted.]`
    this.images.push(image)
    return describeImage(image, bytes.length)
  }
}
