// Prints the page of all encodings, docs/encodings.md:
//   print_page >docs/encodings.md
#include <iostream>

#include "model/catalog/page.h"

int main() { std::cout << ordo::model::catalog::EncodingsPage(); }
