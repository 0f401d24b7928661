// Measures the depth and the number of values of a JSON text by its brackets and commas, before it is parsed.

export interface JsonSize {
  readonly depth: number;
  readonly values: number;
}

/** Measures a text. It need not be valid JSON. */
export function sizeOfJson(text: string): JsonSize {
  let depth = 0;
  let deepest = 0;
  let values = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (quoted) {
      if (code === 92) index++;
      else if (code === 34) quoted = false;
    } else if (code === 34) quoted = true;
    else if (code === 123 || code === 91) {
      if (++depth > deepest) deepest = depth;
      values++;
    } else if (code === 125 || code === 93) depth--;
    else if (code === 44) values++;
  }
  return { depth: deepest, values };
}
